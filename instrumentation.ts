/** Starts the studio's background work, before the first request is served. */
export async function register(): Promise<void> {
  if (process.env.NEXT_RUNTIME !== "nodejs") return;
  if (process.env.WEIR_FRONT !== "1") {
    process.stderr.write("The studio is started by `npm run studio`: without its own HTTP server, requests would not be checked.\n");
    process.exit(1);
  }
  const { startRuntime } = await import("./server/runtime");
  startRuntime();
}
