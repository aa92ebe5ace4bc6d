//! `cargo run -p example-cluster -- redis://127.0.0.1:7000/ redis://127.0.0.1:7001/ …` on a cluster with
//! `SET stock:{book} 3`.

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let urls: Vec<String> = std::env::args().skip(1).collect();
    let mut scripts = example_cluster::connect(&urls.iter().map(String::as_str).collect::<Vec<_>>())?;
    for order in ["o1", "o2", "o1", "o3", "o4"] {
        println!("{order}: {:?}", example_cluster::order(&mut scripts, "ann", order, "book")?);
    }
    Ok(())
}
