import type { SecretUse } from "./engineAccess";

/**
 * Why a request may not be sent. `missing`: the key or a certificate is not there. `elsewhere`: the key was entered for other origins.
 * `unentered`: it was entered for none. `address`: nothing is sent to that address.
 */
export type AccessFault = "missing" | "elsewhere" | "unentered" | "address";

/** No request was sent. The message is one sentence without its full stop. */
export class EngineAccessError extends Error {
  readonly kind: AccessFault;
  /** What an operator would have to allow, if that helps. */
  readonly use: SecretUse | null;

  constructor(message: string, kind: AccessFault, use: SecretUse | null = null) {
    super(message);
    this.kind = kind;
    this.use = use;
  }
}
