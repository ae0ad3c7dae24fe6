import type { EngineMapping } from "./engineMapping";
import { type Mappings, mappingsInForce } from "./mappingsInForce";
import type { PromText } from "./promText";

/** Version that setuptools-scm gives a build from untagged sources, whatever its release. */
const UNTAGGED = /^v?0\.1\.dev\d/;

/**
 * Finds the mapping for an exposition: by the prefix of its names, then by names that mark a row, then by the engine's version if that is
 * known. An existing name takes precedence over the version: builds carry backports and odd version texts. The operator's own rows come
 * before the built-in ones, if the version is in their range or not known.
 *
 * @param version the engine's version (see `engineVersion`), null if it reports none.
 * @returns undefined if no known engine writes such names.
 */
export function chooseMapping(
  metrics: PromText,
  version: string | null,
  { own, builtIn }: Mappings = mappingsInForce(),
): EngineMapping | undefined {
  const known = version !== null && /\d/.test(version) && !UNTAGGED.test(version) ? version : null;
  return (
    choose(
      metrics,
      known,
      own.filter(({ versions }) => known === null || isWithin(known, versions)),
    ) ?? choose(metrics, known, builtIn)
  );
}

function choose(metrics: PromText, version: string | null, mappings: readonly EngineMapping[]): EngineMapping | undefined {
  const names = [...metrics.byName.keys()];
  const possible = mappings.filter(
    ({ sign, build }) => names.some((name) => name.startsWith(sign)) && (build === null || version?.includes(build) === true),
  );
  const marked = possible.filter(({ marks }) => marks.some((name) => metrics.byName.has(name)));
  const dated = possible.filter(({ versions }) => version !== null && isWithin(version, versions));
  return possible.find(({ build }) => build !== null) ?? marked.find((row) => dated.includes(row)) ?? marked[0] ?? dated[0] ?? possible[0];
}

function isWithin(version: string, range: EngineMapping["versions"]): boolean {
  return (
    (range.from === null || compareVersions(version, range.from) >= 0) &&
    (range.before === null || compareVersions(version, range.before) < 0)
  );
}

/** Compares the numbers of two versions; suffixes such as `.post1` or `+cu128` do not count. */
function compareVersions(left: string, right: string): number {
  const numbers = (version: string) => (/\d+(\.\d+)*/.exec(version)?.[0] ?? "").split(".").map(Number);
  const [a, b] = [numbers(left), numbers(right)];
  for (let at = 0; at < 3; at++) {
    const difference = (a[at] ?? 0) - (b[at] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}
