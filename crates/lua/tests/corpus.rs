//! Every snippet under `tests/corpus` gives the reply that Redis 8 gave.

mod support;

use support::count;
use support::ours::{Mode, Ours};

#[test]
fn snippets_give_the_replies_of_redis() {
    let mut vms = [Mode::Redis, Mode::Eager, Mode::Instrumented].map(Ours::new);
    let (mut files, mut rows, mut bad) = (0usize, 0usize, Vec::new());
    for entry in std::fs::read_dir(support::corpus_dir()).expect("the corpus is there") {
        let path = entry.expect("a directory entry").path();
        if path.extension().is_none_or(|e| e != "tsv") {
            continue;
        }
        files += 1;
        let text = std::fs::read_to_string(&path).expect("a text file");
        for row in support::parse_corpus(&text) {
            rows += 1;
            for vm in &mut vms {
                let ours = vm.run(&row.body);
                if ours != row.reply {
                    bad.push(format!(
                        "{} ({:?}): {}\n  redis {}\n  ours  {ours}",
                        row.id,
                        vm.mode(),
                        row.body,
                        row.reply
                    ));
                }
            }
        }
    }
    assert!(files >= 11 && rows >= 4000, "only {rows} snippets in {files} files");
    count("snippets of the corpus", rows.saturating_sub(bad.len()));
    for b in bad.iter().take(60) {
        eprintln!("{b}");
    }
    assert!(bad.is_empty(), "{} of {rows} snippets differ", bad.len());
}
