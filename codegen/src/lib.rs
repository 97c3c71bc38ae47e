//! Generation of kinds from `OpenAPI` documents and CRD manifests. Nothing is here yet: the model it will emit from lives in `kindsmith::kind`.
