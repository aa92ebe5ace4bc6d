//! Snippets made by rule: every library function with every wrong kind of argument, and random ones for the
//! differential tests.

/// Functions and arguments with which they work, in order.
pub const FUNCTIONS: &[(&str, &[&str])] = &[
    ("assert", &["1"]),
    ("error", &["'e'"]),
    ("getmetatable", &["{}"]),
    ("ipairs", &["{1}"]),
    ("loadstring", &["'return 1'"]),
    ("load", &["function() end"]),
    ("next", &["{1}"]),
    ("pairs", &["{1}"]),
    ("pcall", &["tostring"]),
    ("rawequal", &["1", "1"]),
    ("rawget", &["{}", "1"]),
    ("rawset", &["{}", "1", "2"]),
    ("select", &["1", "2"]),
    ("setmetatable", &["{}", "{}"]),
    ("tonumber", &["'10'", "10"]),
    ("tostring", &["1"]),
    ("type", &["1"]),
    ("unpack", &["{1}", "1", "1"]),
    ("xpcall", &["tostring", "tostring"]),
    ("string.byte", &["'abc'", "1", "2"]),
    ("string.char", &["65", "66"]),
    ("string.find", &["'abc'", "'b'", "1", "true"]),
    ("string.format", &["'%d'", "1"]),
    ("string.gfind", &["'abc'", "'b'"]),
    ("string.gmatch", &["'abc'", "'b'"]),
    ("string.gsub", &["'abc'", "'b'", "'x'", "1"]),
    ("string.len", &["'abc'"]),
    ("string.lower", &["'abc'"]),
    ("string.match", &["'abc'", "'b'", "1"]),
    ("string.rep", &["'abc'", "2"]),
    ("string.reverse", &["'abc'"]),
    ("string.sub", &["'abc'", "1", "2"]),
    ("string.upper", &["'abc'"]),
    ("table.concat", &["{1}", "','", "1", "1"]),
    ("table.foreach", &["{1}", "tostring"]),
    ("table.foreachi", &["{1}", "tostring"]),
    ("table.getn", &["{1}"]),
    ("table.insert", &["{1}", "1", "2"]),
    ("table.maxn", &["{1}"]),
    ("table.remove", &["{1}", "1"]),
    ("table.setn", &["{1}", "1"]),
    ("table.sort", &["{1,2}", "function(a,b) return a<b end"]),
    ("math.abs", &["1"]),
    ("math.acos", &["1"]),
    ("math.atan2", &["1", "1"]),
    ("math.ceil", &["1"]),
    ("math.deg", &["1"]),
    ("math.exp", &["1"]),
    ("math.floor", &["1"]),
    ("math.fmod", &["1", "1"]),
    ("math.frexp", &["1"]),
    ("math.ldexp", &["1", "1"]),
    ("math.log", &["1"]),
    ("math.log10", &["1"]),
    ("math.max", &["1", "2"]),
    ("math.min", &["1", "2"]),
    ("math.modf", &["1"]),
    ("math.pow", &["1", "1"]),
    ("math.sqrt", &["1"]),
    ("coroutine.create", &["function() end"]),
    ("coroutine.resume", &["coroutine.create(function() end)"]),
    ("coroutine.status", &["coroutine.create(function() end)"]),
    ("coroutine.wrap", &["function() end"]),
    ("bit.tobit", &["1"]),
    ("bit.bnot", &["1"]),
    ("bit.band", &["1", "2"]),
    ("bit.bor", &["1", "2"]),
    ("bit.bxor", &["1", "2"]),
    ("bit.lshift", &["1", "2"]),
    ("bit.rshift", &["1", "2"]),
    ("bit.arshift", &["1", "2"]),
    ("bit.rol", &["1", "2"]),
    ("bit.ror", &["1", "2"]),
    ("bit.bswap", &["1"]),
    ("bit.tohex", &["1", "2"]),
    ("cjson.encode", &["1"]),
    ("cjson.decode", &["'1'"]),
    ("cjson.encode_sparse_array", &["true", "2", "10"]),
    ("cjson.encode_max_depth", &["1000"]),
    ("cjson.decode_max_depth", &["1000"]),
    ("cjson.encode_number_precision", &["14"]),
    ("cjson.encode_keep_buffer", &["true"]),
    ("cjson.encode_invalid_numbers", &["false"]),
    ("cjson.decode_invalid_numbers", &["true"]),
    ("cmsgpack.pack", &["1"]),
    ("cmsgpack.unpack", &["'\\1'"]),
    ("cmsgpack.unpack_one", &["'\\1'", "0"]),
    ("cmsgpack.unpack_limit", &["'\\1'", "1", "0"]),
    ("struct.pack", &["'i'", "1"]),
    ("struct.unpack", &["'i'", "'abcd'", "1"]),
    ("struct.size", &["'i'"]),
];

/// Values of every type.
const WRONG: &[&str] = &["nil", "true", "'x'", "1.5", "-1", "{}", "tostring"];

/// Restores what a call of cjson's settings changes.
pub const CJSON_RESET: &str = "cjson.encode_sparse_array(false,2,10) cjson.encode_max_depth(1000) \
     cjson.decode_max_depth(1000) cjson.encode_number_precision(14) cjson.encode_keep_buffer(true) \
     cjson.encode_invalid_numbers(false) cjson.decode_invalid_numbers(true)";

/// A call whose results are returned.
pub fn call(function: &str, args: &[&str]) -> String {
    format!("return {function}({})", args.join(","))
}

/// Every function without arguments, with one too few, and with every kind of value in every place.
pub fn wrong_arguments() -> Vec<String> {
    let mut bodies = Vec::new();
    for (function, good) in FUNCTIONS {
        for n in 0..=good.len() {
            bodies.push(call(function, &good[..n]));
        }
        let mut more = good.to_vec();
        more.push("1");
        bodies.push(call(function, &more));
        for i in 0..good.len() {
            for wrong in WRONG {
                let mut args = good.to_vec();
                args[i] = wrong;
                // A huge or endless result is no matter of arguments.
                bodies.push(call(function, &args));
            }
        }
        if let Some(name) = function.strip_prefix("string.") {
            bodies.push(format!("return ('abc'):{name}()"));
            bodies.push(format!("return ('abc'):{name}({{}})"));
            bodies.push(format!("local s={{{name}=string.{name}}} return s:{name}()"));
        }
    }
    bodies
}
