//! A rate limit in front of an axum service: five calls a second for each user, then 429 with `Retry-After`.

use axum::extract::{Request, State};
use axum::http::{StatusCode, header::RETRY_AFTER};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::{Router, routing::get};
use totality_script::catalogue::rl::{Gcra, GcraReply};
use totality_script::{AsyncRunner, AsyncSingle, Fallback, Reply};

type Scripts = AsyncRunner<AsyncSingle>;

async fn limit(State(scripts): State<Scripts>, request: Request, next: Next) -> Response {
    let user = request.headers().get("x-user").and_then(|v| v.to_str().ok()).unwrap_or("anonymous");
    let call = Gcra { subject: user, limit: 5, period_ms: 1000, burst: 5, cost: 1 };
    // When the server is away, let everyone in: that is this service's choice, and it is counted.
    let open = Fallback::Open(GcraReply::Allowed { remaining: 0, retry_ms: 0, reset_ms: 0 });
    match scripts.call_or(&call, open).await.map(|answer| answer.reply().http()) {
        Ok(None) => next.run(request).await,
        Ok(Some(http)) => {
            let wait = http.retry_after_secs().unwrap_or(1).to_string();
            (StatusCode::TOO_MANY_REQUESTS, [(RETRY_AFTER, wait)]).into_response()
        }
        Err(_) => StatusCode::BAD_REQUEST.into_response(),
    }
}

/// The service, with its limiter on the server at `url`.
///
/// # Errors
/// When the URL cannot be read.
pub fn app(url: &str) -> Result<Router, totality_script::LinkError> {
    let scripts = AsyncRunner::new(AsyncSingle::open(url)?);
    Ok(Router::new().route("/", get(|| async { "hello\n" })).layer(from_fn_with_state(scripts, limit)))
}
