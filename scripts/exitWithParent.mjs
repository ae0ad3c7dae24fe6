// Loaded into each child of the launcher (`node --import`): a launcher that is killed outright cannot end its children, but
// the pipe it holds to their standard input ends with it, and then they end themselves as if told to.
import { isMainThread } from "node:worker_threads";

if (isMainThread) {
  process.stdin.on("end", () => process.kill(process.pid, "SIGTERM"));
  process.stdin.resume();
  process.stdin.unref?.();
}
