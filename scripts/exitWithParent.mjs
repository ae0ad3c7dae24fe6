// Loaded into each child of the launcher (`node --import`): a launcher that is killed with SIGKILL cannot stop its children, but
// the pipe from it to their standard input closes, and then they shut down as after a signal.
import { isMainThread } from "node:worker_threads";

if (isMainThread) {
  process.stdin.on("end", () => process.kill(process.pid, "SIGTERM"));
  process.stdin.resume();
  process.stdin.unref?.();
}
