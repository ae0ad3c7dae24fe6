import { type Document, isMap, isNode, isScalar } from "yaml";

/** Position of a field in a YAML document: its key or entry, or the closest parent if it is missing. */
export function offsetOf(document: Document, field: readonly (string | number)[]): number {
  for (let length = field.length; length > 0; length -= 1) {
    const around = length === 1 ? document.contents : document.getIn(field.slice(0, length - 1), true);
    const name = field[length - 1];
    const key = isMap(around) ? around.items.find((pair) => isScalar(pair.key) && pair.key.value === name)?.key : undefined;
    const found = key ?? document.getIn(field.slice(0, length), true);
    if (isNode(found) && found.range) return found.range[0];
  }
  return document.contents?.range?.[0] ?? 0;
}
