//! One server, or the primary that Sentinel names, without blocking.

use super::connection::{lost, unconnected};
use super::places::{self, ask_sentinel, is_primary, primary};
use super::{AsyncTarget, Node};
use crate::error::LinkError;
use crate::value::Value;
use crate::words::Words;
use redis::aio::{ConnectionLike, MultiplexedConnection};
use redis::{AsyncConnectionConfig, Client, Cmd, ConnectionInfo, IntoConnectionInfo, Pipeline};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// One server by a multiplexed connection: many calls share it. It is made when it is needed and again after it was lost.
pub struct AsyncSingle {
    place: Place,
    now: Mutex<Option<(String, MultiplexedConnection)>>,
    epoch: AtomicU64,
}

enum Place {
    Fixed(ConnectionInfo),
    Sentinel { sentinels: Vec<ConnectionInfo>, name: String, login: ConnectionInfo },
}

impl AsyncSingle {
    /// A server by its URL. It is connected to at the first call.
    ///
    /// # Errors
    /// [`LinkError::Unconnected`] when the URL cannot be read.
    pub fn open(url: &str) -> Result<AsyncSingle, LinkError> {
        Ok(AsyncSingle::with(Place::Fixed(url.into_connection_info().map_err(unconnected)?)))
    }

    /// The primary called `name` that these sentinels watch. `login` is a URL with the data servers' user and password.
    ///
    /// # Errors
    /// [`LinkError::Unconnected`] when a URL cannot be read.
    pub fn sentinel(sentinels: &[&str], name: &str, login: &str) -> Result<AsyncSingle, LinkError> {
        let infos: Result<Vec<_>, _> = sentinels.iter().map(|u| u.into_connection_info()).collect();
        let sentinels = infos.map_err(unconnected)?;
        let login = login.into_connection_info().map_err(unconnected)?;
        Ok(AsyncSingle::with(Place::Sentinel { sentinels, name: name.into(), login }))
    }

    fn with(place: Place) -> AsyncSingle {
        AsyncSingle { place, now: Mutex::new(None), epoch: AtomicU64::new(0) }
    }

    fn slot(&self) -> MutexGuard<'_, Option<(String, MultiplexedConnection)>> {
        // What a panicking thread left is a connection or none: both are fine.
        self.now.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn connection(&self, timeout: Duration) -> Result<MultiplexedConnection, LinkError> {
        if let Some((_, connection)) = &*self.slot() {
            return Ok(connection.clone());
        }
        let info = match &self.place {
            Place::Fixed(info) => info.clone(),
            Place::Sentinel { sentinels, name, login } => find(sentinels, name, login, timeout).await?,
        };
        let connection = connect(&info, timeout).await?;
        self.epoch.fetch_add(1, Ordering::Relaxed);
        *self.slot() = Some((places::name(&info), connection.clone()));
        Ok(connection)
    }
}

/// A new connection; its calls are timed by their callers.
pub(super) async fn connect(
    info: &ConnectionInfo,
    timeout: Duration,
) -> Result<MultiplexedConnection, LinkError> {
    let config =
        AsyncConnectionConfig::new().set_connection_timeout(Some(timeout)).set_response_timeout(None);
    let client = Client::open(info.clone()).map_err(unconnected)?;
    client.get_multiplexed_async_connection_with_config(&config).await.map_err(unconnected)
}

/// Sends commands in one go and waits for the replies.
pub(super) async fn send(
    connection: &mut MultiplexedConnection,
    commands: &[Words],
    timeout: Duration,
) -> Result<Vec<Value>, LinkError> {
    let replies = tokio::time::timeout(timeout, async {
        if let [command] = commands {
            return Ok(vec![connection.req_packed_command(&cmd(command)).await]);
        }
        let mut pipeline = Pipeline::with_capacity(commands.len());
        for command in commands {
            pipeline.add_command(cmd(command));
        }
        let values = connection.req_packed_commands(&pipeline, 0, commands.len()).await?;
        Ok(values.into_iter().map(Ok).collect())
    });
    let replies: Vec<redis::RedisResult<redis::Value>> =
        replies.await.map_err(|_| LinkError::Timeout)?.map_err(lost)?;
    let values: Result<Vec<Value>, LinkError> = replies.into_iter().map(value).collect();
    let values = values?;
    if values.len() != commands.len() {
        return Err(LinkError::Lost("fewer replies than commands".into()));
    }
    Ok(values)
}

fn cmd(words: &Words) -> Cmd {
    let mut cmd = Cmd::new();
    words.iter().for_each(|w| {
        cmd.arg(w);
    });
    cmd
}

/// An error reply of the server is a value; everything else is a lost connection.
fn value(got: redis::RedisResult<redis::Value>) -> Result<Value, LinkError> {
    match got {
        Ok(value) => Ok(value.into()),
        Err(e) => match (e.code().map(String::from), e.is_io_error() || e.is_timeout()) {
            (Some(code), false) => {
                let text = e.detail().map_or_else(|| code.clone(), |d| format!("{code} {d}"));
                Ok(Value::Error(text))
            }
            _ => Err(lost(e)),
        },
    }
}

async fn find(
    sentinels: &[ConnectionInfo],
    name: &str,
    login: &ConnectionInfo,
    timeout: Duration,
) -> Result<ConnectionInfo, LinkError> {
    let mut last = unconnected("there are no sentinels");
    for sentinel in sentinels {
        match ask(sentinel, name, login, timeout).await {
            Ok(info) => return Ok(info),
            Err(e) => last = unconnected(e),
        }
    }
    Err(last)
}

async fn ask(
    sentinel: &ConnectionInfo,
    name: &str,
    login: &ConnectionInfo,
    timeout: Duration,
) -> Result<ConnectionInfo, LinkError> {
    let mut link = connect(sentinel, timeout).await?;
    let reply = send(&mut link, &[ask_sentinel(name)], timeout).await?;
    let address = primary(reply.first()).ok_or_else(|| unconnected("the sentinel knows no such primary"))?;
    let info = places::at(login, &address)?;
    let mut link = connect(&info, timeout).await?;
    let role = send(&mut link, &[Words::of(&["ROLE"])], timeout).await?;
    if is_primary(role.first()) { Ok(info) } else { Err(unconnected("it is no primary (yet)")) }
}

impl AsyncTarget for AsyncSingle {
    async fn exchange(
        &self,
        _: Node<'_>,
        commands: &[Words],
        timeout: Duration,
    ) -> Result<Vec<Value>, LinkError> {
        let mut connection = self.connection(timeout).await?;
        let got = send(&mut connection, commands, timeout).await;
        if matches!(got, Err(LinkError::Lost(_) | LinkError::Unconnected(_))) {
            *self.slot() = None;
        }
        got
    }

    fn refresh(&self) {
        *self.slot() = None;
    }

    fn node(&self, _: Option<u16>) -> String {
        match (&*self.slot(), &self.place) {
            (Some((name, _)), _) => name.clone(),
            (None, Place::Fixed(info)) => places::name(info),
            (None, Place::Sentinel { name, .. }) => name.clone(),
        }
    }

    fn epoch(&self) -> u64 {
        self.epoch.load(Ordering::Relaxed)
    }

    fn names_nodes(&self) -> bool {
        true
    }
}
