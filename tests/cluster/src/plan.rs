//! The faults of a round, chosen by its seed.
use std::{fmt, time::Duration};

use kindsmith_tests::Random;

/// A member by its part in the cluster when the fault begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Who {
    Leader,
    Follower,
    /// The leader and another one: no quorum is left.
    Two,
    All,
}

/// What fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    KillMembers(Who),
    StopMembers(Who),
    /// Members lose each other, while servers reach them.
    CutPeers(Who),
    /// Servers lose members, which keep each other.
    CutFromServers(Who),
    /// Both.
    CutMembers(Who),
    KillServer(usize),
    StopServer(usize),
    /// A server loses etcd, while clients reach it.
    CutServer(usize),
    /// All members and servers at once, as when the power fails.
    KillEverything,
    MoveLeader,
    Defragment,
}

/// An action shortly before the fault is healed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Beside {
    Nothing,
    /// History is compacted up to this many revisions before the newest one.
    Compact(u64),
}

/// A fault with its times.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    pub(crate) fault: Fault,
    pub(crate) beside: Beside,
    /// How long it lasts, at least.
    pub(crate) lasts: Duration,
    /// True if the unaffected servers must answer again before it is healed.
    pub(crate) settles: bool,
    /// True if all servers must answer again before the next fault.
    pub(crate) heals: bool,
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} {:.1} s", self.fault, self.lasts.as_secs_f64())?;
        if let Beside::Compact(behind) = self.beside {
            write!(f, " compact -{behind}")?;
        }
        f.write_str(if self.settles { " settled" } else { "" })?;
        f.write_str(if self.heals { "" } else { " overlapped" })
    }
}

fn fault(random: &mut Random, members: usize, servers: usize) -> Fault {
    let server = random.below(servers);
    if members == 0 {
        return if random.one_in(3) { Fault::StopServer(server) } else { Fault::KillServer(server) };
    }
    let who = *random.pick(&[Who::Leader, Who::Leader, Who::Follower, Who::Follower, Who::Two, Who::All]);
    match random.below(16) {
        0..=2 => Fault::KillMembers(who),
        3 | 4 => Fault::StopMembers(who),
        5 | 6 => Fault::CutPeers(who),
        7 => Fault::CutFromServers(who),
        8 => Fault::CutMembers(who),
        9 | 10 => Fault::KillServer(server),
        11 => Fault::StopServer(server),
        12 | 13 => Fault::CutServer(server),
        14 => *random.pick(&[Fault::KillEverything, Fault::MoveLeader]),
        _ => Fault::Defragment,
    }
}

/// The faults of the round with this seed.
pub(crate) fn plan(seed: u64, members: usize, servers: usize) -> Vec<Step> {
    let mut random = Random::from_seed(seed);
    let mut step = |_| {
        let fault = fault(&mut random, members, servers);
        let compacts = members > 0 && random.one_in(2);
        let behind = if random.one_in(2) { 0 } else { random.below(100) };
        let beside = if compacts { Beside::Compact(behind as u64) } else { Beside::Nothing };
        let lasts = Duration::from_millis(200 + random.below(1800) as u64);
        Step { fault, beside, lasts, settles: random.one_in(2), heals: !random.one_in(3) }
    };
    let mut steps: Vec<_> = (0..3).map(&mut step).collect();
    // The last one is judged, too.
    if let Some(last) = steps.last_mut() {
        last.heals = true;
    }
    steps
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_the_same_plan_and_all_faults_come() {
        let text = |seed| plan(seed, 3, 3).iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(text(7), text(7));
        let all: Vec<_> = (0..200).flat_map(text).collect();
        for fault in [
            "KillMembers(Leader)",
            "StopMembers(Two)",
            "CutPeers(Leader)",
            "CutFromServers(Follower)",
            "CutMembers(All)",
            "KillServer(2)",
            "StopServer(0)",
            "CutServer(1)",
            "KillEverything",
            "MoveLeader",
            "Defragment",
            "compact",
        ] {
            assert!(all.iter().any(|step| step.contains(fault)), "{fault} never comes");
        }
        assert!(plan(1, 0, 1).iter().all(|s| matches!(s.fault, Fault::KillServer(0) | Fault::StopServer(0))));
    }
}
