//! Macros at random.
use kindsmith_cel::Type;

use super::Maker;
use crate::schema::FIELDS;

/// The names of loops' variables.
const VARIABLES: [&str; 4] = ["x", "y", "z", "v"];

impl Maker<'_> {
    /// A macro whose result fits.
    pub(super) fn by_macro(&mut self, kind: &Type, depth: usize) -> String {
        if self.binds && self.random.one_in(5) {
            let of = self.kind(1);
            let value = self.make(&of, depth);
            let (name, body) = self.within(&[of], |maker| maker.make(kind, depth));
            return format!("cel.bind({}, {value}, {body})", name[0]);
        }
        match kind {
            Type::Bool => self.test(depth),
            Type::List(of) => self.list_macro(&of.clone(), depth),
            Type::Map(key, of) => {
                let (key, of) = ((**key).clone(), (**of).clone());
                let (range, types) = self.pairs(depth);
                if self.random.one_in(2) {
                    let (names, body) = self
                        .within(&types, |maker| format!("{{{}: {}}}", maker.make(&key, depth), maker.make(&of, depth)));
                    return format!("{range}.transformMapEntry({}, {}, {body})", names[0], names[1]);
                }
                let filter = self.random.one_in(2);
                let (names, body) = self.within(&types, |maker| {
                    let test = if filter { format!("{}, ", maker.make(&Type::Bool, depth)) } else { String::new() };
                    test + &maker.make(&of, depth)
                });
                format!("{range}.transformMap({}, {}, {body})", names[0], names[1])
            }
            kind => match kind.unwrapped().cloned() {
                Some(of) => {
                    let from = self.kind(1);
                    let range = self.make(&Type::optional(from.clone()), depth);
                    let flat = self.random.one_in(2);
                    let of = if flat { Type::optional(of) } else { of };
                    let (names, body) = self.within(&[from], |maker| maker.make(&of, depth));
                    format!("{range}.{}({}, {body})", if flat { "optFlatMap" } else { "optMap" }, names[0])
                }
                None => self.call(kind, depth),
            },
        }
    }

    fn test(&mut self, depth: usize) -> String {
        match self.random.below(5) {
            0 => {
                let (field, _) = *self.random.pick(&FIELDS);
                let object = *self.random.pick(&["self", "self.inner", "self.items[0]", "any", "old"]);
                let dot = if self.random.one_in(4) { ".?inner." } else { "." };
                format!("has({object}{dot}{field})")
            }
            1 => {
                let (range, types) = self.pairs(depth);
                let (names, body) = self.within(&types, |maker| maker.make(&Type::Bool, depth));
                let name = *self.random.pick(&["all", "exists", "existsOne"]);
                format!("{range}.{name}({}, {}, {body})", names[0], names[1])
            }
            _ => {
                let (range, of) = self.range(depth);
                let (names, body) = self.within(&[of], |maker| maker.make(&Type::Bool, depth));
                let name = *self.random.pick(&["all", "all", "exists", "exists", "exists_one"]);
                format!("{range}.{name}({}, {body})", names[0])
            }
        }
    }

    fn list_macro(&mut self, of: &Type, depth: usize) -> String {
        match self.random.below(5) {
            0 => {
                let range = self.make(&Type::list(of.clone()), depth);
                let (names, body) = self.within(std::slice::from_ref(of), |maker| maker.make(&Type::Bool, depth));
                format!("{range}.filter({}, {body})", names[0])
            }
            1 => {
                let range = self.make(&Type::list(of.clone()), depth);
                let key = self.random.pick(&[Type::Int, Type::String, Type::Duration]).clone();
                let (names, body) = self.within(std::slice::from_ref(of), |maker| maker.make(&key, depth));
                format!("{range}.sortBy({}, {body})", names[0])
            }
            2 => {
                let (range, types) = self.pairs(depth);
                let filter = self.random.one_in(2);
                let (names, body) = self.within(&types, |maker| {
                    let test = if filter { format!("{}, ", maker.make(&Type::Bool, depth)) } else { String::new() };
                    test + &maker.make(of, depth)
                });
                format!("{range}.transformList({}, {}, {body})", names[0], names[1])
            }
            _ => {
                let (range, from) = self.range(depth);
                let filter = self.random.one_in(3);
                let (names, body) = self.within(&[from], |maker| {
                    let test = if filter { format!("{}, ", maker.make(&Type::Bool, depth)) } else { String::new() };
                    test + &maker.make(of, depth)
                });
                format!("{range}.map({}, {body})", names[0])
            }
        }
    }

    /// A list or map to loop over, and the type of its elements or keys.
    fn range(&mut self, depth: usize) -> (String, Type) {
        if self.random.one_in(3) {
            let key = self.random.pick(&[Type::String, Type::Int]).clone();
            let of = self.kind(1);
            return (self.make(&Type::map(key.clone(), of), depth), key);
        }
        let of = self.kind(1);
        (self.make(&Type::list(of.clone()), depth), of)
    }

    /// A list or map to loop over with two variables, and their types.
    fn pairs(&mut self, depth: usize) -> (String, [Type; 2]) {
        let of = self.kind(1);
        if self.random.one_in(2) {
            return (self.make(&Type::list(of.clone()), depth), [Type::Int, of]);
        }
        let key = self.random.pick(&[Type::String, Type::Int]).clone();
        (self.make(&Type::map(key.clone(), of.clone()), depth), [key, of])
    }

    /// What is made with further variables, and their names.
    fn within(&mut self, types: &[Type], make: impl FnOnce(&mut Self) -> String) -> (Vec<String>, String) {
        let before = self.scope.len();
        let first = self.loops % VARIABLES.len();
        self.loops += types.len();
        let name = |index: usize| VARIABLES[(first + index) % VARIABLES.len()].to_owned();
        let names: Vec<String> = (0..types.len()).map(name).collect();
        let hidden: Vec<_> = self.scope.iter().filter(|(name, _)| names.contains(name)).cloned().collect();
        self.scope.retain(|(name, _)| !names.contains(name));
        let visible = self.scope.len();
        self.scope.extend(names.iter().cloned().zip(types.iter().cloned()));
        let body = make(self);
        self.scope.truncate(visible);
        self.scope.extend(hidden);
        debug_assert_eq!(self.scope.len(), before);
        (names, body)
    }
}
