#![no_main]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| totality_testkit::fuzz::logs(bytes));
