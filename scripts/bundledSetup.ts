/** Builds the bundles that worker threads and child processes run, unless they are newer than their sources. */
export default async function setup(): Promise<void> {
  const { ensureBundled } = (await import("./prepare.mjs" as string)) as { ensureBundled: () => Promise<void> };
  await ensureBundled();
}
