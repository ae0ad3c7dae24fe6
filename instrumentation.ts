/** Starts the studio's background work, before the first request is served. */
export async function register(): Promise<void> {
  if (process.env.NEXT_RUNTIME !== "nodejs") return;
  const { startRuntime } = await import("./server/runtime");
  startRuntime();
}
