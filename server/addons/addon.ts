/** An add-on: packages that Weir uses if its operator installs them, in a folder of their own. */
export interface Addon {
  readonly name: string;
  /** What it is, as a heading. */
  readonly title: string;
  /** What one gets, a sentence. */
  readonly description: string;
  /** Exact versions of packages that every platform needs. */
  readonly packages: Readonly<Record<string, string>>;
  /** The one further package of each platform, by `process.platform` and `process.arch`; null: no platform needs one. */
  readonly platformPackages: { readonly version: string; readonly names: Readonly<Record<string, string>> } | null;
  /** The tree of packages, by their paths in `npm`'s lock file; null: what the packages ask for is chosen by npm. */
  readonly lock: Readonly<Record<string, LockedPackage>> | null;
  /** Size on disk, about; bytes. */
  readonly bytes: number;
}

/** An entry of a lock file: without an address, so that the registry in use serves it, and with the hash that it must have. */
interface LockedPackage {
  readonly version: string;
  readonly integrity: string;
  readonly dependencies?: Readonly<Record<string, string>>;
}

/** A kind of machine as Node names it; `musl`: a Linux without glibc. */
export interface Platform {
  readonly platform: string;
  readonly arch: string;
  readonly musl: boolean;
}

/** This machine. */
export function thisPlatform(): Platform {
  const { platform, arch } = process;
  const { header } = process.report.getReport() as { readonly header: { readonly glibcVersionRuntime?: string } };
  return { platform, arch, musl: platform === "linux" && header.glibcVersionRuntime === undefined };
}

/** The packages with exact versions that an add-on needs on a platform; undefined: one of them does not exist for it. */
export function packagesFor(addon: Addon, { platform, arch, musl }: Platform): Readonly<Record<string, string>> | undefined {
  if (addon.platformPackages === null) return addon.packages;
  const { names, version } = addon.platformPackages;
  const key = `${platform}-${arch}`;
  if (musl || !Object.hasOwn(names, key)) return undefined;
  return { ...addon.packages, [names[key] ?? ""]: version };
}

/**
 * npm's lock file for these packages of an add-on: its tree, less the packages of other platforms. A platform's package without an entry is
 * of an exact version and unknown hash.
 */
export function lockFile({ lock, platformPackages }: Addon, packages: Readonly<Record<string, string>>): object {
  const others = Object.values(platformPackages?.names ?? {}).flatMap((name) => (name in packages ? [] : [`node_modules/${name}`]));
  const tree = Object.fromEntries(Object.entries(lock ?? {}).filter(([path]) => !others.includes(path)));
  return { lockfileVersion: 3, requires: true, packages: { "": { dependencies: packages }, ...tree } };
}
