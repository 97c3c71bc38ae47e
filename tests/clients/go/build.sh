#!/usr/bin/env bash
# Builds the client-go check: build.sh FOLDER leaves FOLDER/client. FOLDER keeps what later builds use again.
#
# Debian has no package of client-go for every release, but its source package `kubernetes` holds client-go and all that it
# imports. So `apt-get source` brings it, and Go (package `golang-go`) builds from that, without modules or a module proxy.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
cd "$1"
folder=$PWD

# The machine's own sources, asked for source packages, in lists of their own: the machine's settings stay as they are.
apt_source() {
    mkdir -p lists/partial sources
    for list in /etc/apt/sources.list.d/*.sources; do
        [ -e "$list" ] && sed 's/^Types:.*/Types: deb-src/' "$list" >"sources/$(basename "$list")"
    done
    for list in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
        [ -e "$list" ] && sed -n 's/^deb\(-src\)\? /deb-src /p' "$list" >"sources/$(basename "$list" .list).list"
    done
    local options=(-qq -o Dir::Etc::sourcelist=- -o "Dir::Etc::sourceparts=$folder/sources" -o "Dir::State::lists=$folder/lists"
        -o APT::Sandbox::User=root)
    # A source that does not answer is no matter, where another one has the package.
    apt-get "${options[@]}" update || true
    apt-get "${options[@]}" source --download-only "$1"
}

if [ ! -d gopath/src ]; then
    apt_source kubernetes
    rm -rf unpacked gopath
    mkdir unpacked
    tar xzf kubernetes_*.orig.tar.gz -C unpacked --strip-components=1 --wildcards \
        '*/vendor' '*/staging/src/k8s.io/api' '*/staging/src/k8s.io/apimachinery' '*/staging/src/k8s.io/client-go'
    # What it vendors is the GOPATH, with links to its own libraries, which are in `staging` beside it.
    rm -rf unpacked/src
    mv unpacked/vendor unpacked/src
    for part in api apimachinery client-go; do
        ln -sfn "../../staging/src/k8s.io/$part" "unpacked/src/k8s.io/$part"
    done
    mv unpacked gopath
fi
export GOPATH=$folder/gopath GOCACHE=$folder/cache GO111MODULE=off CGO_ENABLED=0 GOFLAGS=
# Not optimized: it compiles sooner, and nothing here waits for it.
cd "$here"
"${GO:-go}" build -gcflags='all=-N -l' -ldflags='-s -w' -o "$folder/client" .
