//! Tests of what a line of progress says.
use super::*;

#[test]
fn a_rate_counts_from_the_first_line_of_its_step() {
    let step = Step { doing: "copying".to_owned(), since: Instant::now(), done: 500, bytes: 0 };
    let mut now = Progress::new("copying", 1_500, 11_500);
    assert_eq!(step.rate(&now, Duration::from_millis(900)), "");
    assert_eq!(step.rate(&now, Duration::from_secs(10)), ", 100/s, 1:40 left");
    now.bytes = 20 << 20;
    assert_eq!(step.rate(&now, Duration::from_secs(10)), ", 20.0 MiB (2.0 MiB/s), 100/s, 1:40 left");
    assert_eq!(step.rate(&Progress::new("copying", 1_500, 0), Duration::from_secs(10)), "");
}

#[test]
fn a_line_shows_how_far_it_is() {
    let progress = Progress::new("reading rows", 750, 1500);
    assert_eq!(line(progress), format!("reading rows [{}{}]  50% of 1,500", "#".repeat(15), ".".repeat(15)));
    assert_eq!(line(Progress::new("reading rows", 750, 0)), "reading rows: 750");
    assert!(line(Progress::new("reading rows", 9_999, 1500)).ends_with(" 100% of 1,500"));
}
