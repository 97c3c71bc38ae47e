//! Every watcher gets every matching change once and in order: random histories, watchers and paces against a model.
