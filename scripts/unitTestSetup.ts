import childProcess from "node:child_process";
import { syncBuiltinESMExports } from "node:module";
import { Server } from "node:net";
import workerThreads from "node:worker_threads";

/** Unit tests share two threads and their modules' state: anything that outlives a test would disturb the files after it. */
function refuse(what: string): never {
  throw new Error(`A unit test ${what}: name the file *.integration.test.ts.`);
}

Server.prototype.listen = () => refuse("opens a port");
for (const name of ["spawn", "spawnSync", "exec", "execSync", "execFile", "execFileSync", "fork"] as const)
  Object.assign(childProcess, { [name]: () => refuse("starts a process") });
workerThreads.Worker = class {
  constructor() {
    refuse("starts a thread");
  }
} as unknown as typeof workerThreads.Worker;
syncBuiltinESMExports();
