/** Why an add-on could not be installed. */
export type AddonFailure = "no-npm" | "unreachable" | "npm" | "incomplete" | "stopped" | "timeout" | "disk";

/** How far an add-on is on this machine. */
export type AddonState =
  | { readonly kind: "absent" }
  /** `lines`: the last lines of its progress. */
  | { readonly kind: "installing"; readonly lines: readonly string[] }
  /** `bytes`: its size on disk. */
  | { readonly kind: "ready"; readonly version: string; readonly bytes: number }
  /** No package fits this platform. */
  | { readonly kind: "unsupported"; readonly message: string }
  | { readonly kind: "failed"; readonly cause: AddonFailure; readonly reason: string };

/** An add-on as the studio and the command line list it. */
export interface AddonView {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** Size on disk, about; bytes. */
  readonly bytes: number;
  readonly state: AddonState;
}
