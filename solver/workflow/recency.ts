/**
 * Puts a key last in a map, as the one seen latest. Where the map then holds more than its bound, the one seen longest ago goes.
 *
 * @returns what went; undefined where nothing had to.
 */
export function putLatest<Value>(map: Map<string, Value>, key: string, value: Value, bound: number): Value | undefined {
  map.delete(key);
  map.set(key, value);
  if (map.size <= bound) return undefined;
  for (const [oldest, forgotten] of map) {
    map.delete(oldest);
    return forgotten;
  }
  return undefined;
}
