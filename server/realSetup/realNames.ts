/** The models, smallest first: also the ids of their cards. */
export const realModelNames = ["arith-small", "arith-large"] as const;

/** The cluster's name on every page. */
export const realClusterName = "Real models on this computer";

/** The add-on with the engine. */
export const engineAddon = "real-engine";

/** `name`, or `name 2` and so on where that is taken. */
export function freeName(name: string, taken: ReadonlySet<string>): string {
  let free = name;
  for (let count = 2; taken.has(free); count += 1) free = `${name} ${count}`;
  return free;
}
