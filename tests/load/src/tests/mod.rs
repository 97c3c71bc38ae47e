//! The load tool against servers in the process, over sockets.
mod scenarios;
mod stalls;

use std::{sync::Arc, time::Duration};

use kindsmith::server::TestServer;

use crate::{
    drive::Load,
    scenario::objects,
    session::Side,
    target::{self, Access, Http, Target},
};

/// A short round of few connections.
fn load() -> Load {
    Load {
        connections: 3,
        streams: 1,
        rate: None,
        duration: Duration::from_millis(150),
        objects: 20,
        watchers: 4,
        slow: false,
    }
}

fn target(server: &TestServer, http: Http) -> Arc<Target> {
    let secure = server.url().starts_with("https:");
    let access = Access {
        url: server.url().to_owned(),
        authorities: secure.then(|| target::read(server.authority()).unwrap()),
        token: Some(server.token().to_owned()),
        identity: None,
    };
    Target::new(&access, http).unwrap()
}

/// A server with the objects of the scenarios.
fn side(server: &TestServer, http: Http) -> Side {
    let target = target(server, http);
    crate::runtime().unwrap().block_on(objects::prepare(&target, load().objects, 6)).unwrap();
    Side { label: "A".into(), target, pid: Some(std::process::id()) }
}
