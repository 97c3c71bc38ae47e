//! The lines in which two texts differ.

/// The lines of a text that are not in another one, with their numbers. As few as possible.
pub(super) fn added<'t>(before: &str, after: &'t str) -> Vec<(usize, &'t str)> {
    let (old, new): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    let start = old.iter().zip(&new).take_while(|(one, other)| one == other).count();
    let rest = old.len().min(new.len()) - start;
    let end = old.iter().rev().zip(new.iter().rev()).take(rest).take_while(|(one, other)| one == other).count();
    let (old, middle) = (&old[start..old.len() - end], &new[start..new.len() - end]);
    // How many lines the rest of both texts has in common, from each pair of positions on.
    let mut common = vec![vec![0_usize; middle.len() + 1]; old.len() + 1];
    for at in (0..old.len()).rev() {
        for other in (0..middle.len()).rev() {
            common[at][other] = if old[at] == middle[other] {
                common[at + 1][other + 1] + 1
            } else {
                common[at + 1][other].max(common[at][other + 1])
            };
        }
    }
    let (mut added, mut at) = (Vec::new(), 0);
    for (other, line) in middle.iter().enumerate() {
        while at < old.len() && old[at] != *line && common[at + 1][other] > common[at][other + 1] {
            at += 1;
        }
        if at < old.len() && old[at] == *line {
            at += 1;
        } else {
            added.push((start + other + 1, *line));
        }
    }
    added
}

#[cfg(test)]
mod tests;
