//! `REDIS_URL=redis://127.0.0.1:6379/ cargo run -p example-limiter-axum`, then `curl -i -H 'x-user: ann' localhost:3000`.

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let url = std::env::var("REDIS_URL").unwrap_or_else(|_| "redis://127.0.0.1:6379/".into());
    let listener = tokio::net::TcpListener::bind("127.0.0.1:3000").await?;
    axum::serve(listener, example_limiter_axum::app(&url)?).await?;
    Ok(())
}
