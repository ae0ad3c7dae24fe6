/** `name`, or `name 2` and so on where that is taken. */
export function freeName(name: string, taken: ReadonlySet<string>): string {
  let free = name;
  for (let count = 2; taken.has(free); count += 1) free = `${name} ${count}`;
  return free;
}
