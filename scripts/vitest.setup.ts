/** Worker threads and child processes run the bundles, so the bundles are made before any test starts. */
export default async function setup(): Promise<void> {
  const { bundle } = (await import("./bundle.mjs" as string)) as { bundle: () => Promise<void> };
  await bundle();
}
