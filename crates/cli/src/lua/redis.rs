//! What EVAL offers, on an engine in this process whose data lasts until the end.

use crate::eval::Embedded;
use crate::print;
use totality_resp::Reply;

/// The machine.
pub struct Redis {
    engine: Embedded,
}

impl Redis {
    /// An empty data set whose scripts may hold so many megabytes.
    ///
    /// # Errors
    /// When the engine does not start.
    pub fn new(megabytes: u32) -> Result<Redis, String> {
        let mut engine = Embedded::open()?;
        let bytes = (u64::from(megabytes) << 20).to_string().into_bytes();
        let words = [b"CONFIG".to_vec(), b"SET".to_vec(), b"script-max-memory".to_vec(), bytes];
        match engine.execute(&words)? {
            Reply::Error(text) => Err(String::from_utf8_lossy(&text).into_owned()),
            _ => Ok(Redis { engine }),
        }
    }

    fn eval(&mut self, source: &[u8], argv: &[Vec<u8>]) -> Result<Reply, String> {
        let mut words = vec![b"EVAL".to_vec(), source.to_vec(), b"0".to_vec()];
        words.extend_from_slice(argv);
        match self.engine.execute(&words)? {
            Reply::Error(text) => Err(String::from_utf8_lossy(&text).into_owned()),
            reply => Ok(reply),
        }
    }
}

impl super::Machine for Redis {
    fn line_name(&self) -> &'static str {
        "=user_script"
    }

    fn run(&mut self, source: &[u8], _name: &str, argv: &[Vec<u8>]) -> Result<(), String> {
        match self.eval(source, argv)? {
            // A script that returns nothing says nothing.
            Reply::Null => {}
            reply => println!("{}", print::text(&reply)),
        }
        Ok(())
    }

    fn show(&mut self, expressions: &[u8]) -> Result<(), String> {
        let reply = self.eval(&[b"return ", expressions].concat(), &[])?;
        println!("{}", print::text(&reply));
        Ok(())
    }
}
