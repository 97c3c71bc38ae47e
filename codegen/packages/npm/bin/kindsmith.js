#!/usr/bin/env node
// Runs the command, and ends as it does.
"use strict";

const { spawn } = require("node:child_process");
const { findBinary } = require("../index.js");

const child = spawn(findBinary(), process.argv.slice(2), { stdio: "inherit" });
// A terminal sends Ctrl-C to the command, too. Other signals are passed on.
process.on("SIGINT", () => {});
for (const signal of ["SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
child.on("error", (error) => {
  console.error(`kindsmith cannot be run: ${error.message}`);
  process.exitCode = 127;
});
child.on("exit", (code, signal) => {
  if (signal === null) {
    process.exitCode = code;
  } else {
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  }
});
