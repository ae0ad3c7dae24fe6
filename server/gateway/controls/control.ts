import type { z } from "zod";
import type { Signature } from "@/server/contracts/gateway/gatewayControls";
import type { ApiError } from "../http/apiError";
import type { AuditLog } from "../lib/auditLog";
import type { Serving } from "../serving/serving";
import type { ControlsStore } from "./controlsStore";

/** One intervention of an operator in live traffic, apart from the configuration. */
export interface Control<Request, Document> {
  readonly schema: z.ZodType<Request>;
  /** Loads what the request needs before the mutex is held, so that no other change waits for it. */
  prepare?(request: Request): Promise<void>;
  /**
   * Starts or replaces the control, stored and audited.
   * @returns the error; null on success.
   */
  begin(request: Request): Promise<ApiError | null>;
  /** Null if the control is not active. */
  read(): Document | null;
  /**
   * Ends the control, stored and audited.
   * @returns the error; null on success.
   */
  end(signature: Signature): Promise<ApiError | null>;
}

/** Dependencies of all controls. */
export interface ControlDeps {
  readonly serving: Serving;
  readonly store: ControlsStore;
  readonly audit: AuditLog;
}
