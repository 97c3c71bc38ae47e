//! Kinds that are declared with kube's `CustomResource` derive, served as they stand.
use ::kube::{CustomResourceExt, Resource};
use serde::{Serialize, de::DeserializeOwned};

use super::builder::Builder;
use crate::kind::hook::Hooks;

impl Builder {
    /// Serves a kind that is declared with kube's `#[derive(CustomResource)]`: its definition, `CustomResourceExt::crd()`, says
    /// everything. `kube::Api<T>` reads and writes its objects, over [`App::kube_client`] without a connection.
    ///
    /// A kind in several versions is served with `.crd(merge_crds(…))`, and gets hooks by [`Builder::hooks`].
    /// [`Builder::build`] returns the errors of the definition. examples/kube-rs is an example.
    ///
    /// [`App::kube_client`]: crate::server::App::kube_client
    pub fn kube_kind<T: CustomResourceExt>(self) -> Self {
        self.crd(T::crd())
    }

    /// Serves a kind that is declared with kube's `#[derive(CustomResource)]` with [`Hooks`], which have its type. See
    /// [`Builder::kube_kind`].
    pub fn kube_kind_with<T>(self, hooks: impl Hooks<T>) -> Self
    where
        T: CustomResourceExt + Resource<DynamicType = ()> + Serialize + DeserializeOwned + Send + Sync + 'static,
    {
        self.kube_kind::<T>().hooks(T::api_version(&()), T::kind(&()), hooks)
    }
}
