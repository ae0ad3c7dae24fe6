import type { IncomingMessage, ServerResponse } from "node:http";
import type { KeyBudgets } from "../budgets/keyBudgets";
import type { KeyUseFiles } from "../budgets/keyUseFiles";
import type { ClientPace } from "../clients/clientPace";
import type { Controls } from "../controls/controls";
import type { EnsembleStats } from "../ensembles/ensembleStats";
import type { AuditLog } from "../lib/auditLog";
import type { DecisionLog } from "../lib/decisionLog";
import type { Mutex } from "../lib/mutex";
import type { FeatureLog } from "../prediction/featureLog";
import type { PredictionCounts } from "../prediction/predictionCounts";
import type { Configuration } from "../serving/configuration";
import type { Serving } from "../serving/serving";
import type { StageWatch } from "../serving/stageWatch";
import type { StudioOrders } from "../serving/studioOrders";
import type { ValkeyLink } from "../shared/valkeyLink";
import type { RefusalNotes } from "./refusalNotes";

/** The admin port's handlers by method and path. An exception in a handler is answered with 500. */
export type AdminRoutes = Readonly<Record<string, AdminHandler>>;

export type AdminHandler = (request: IncomingMessage, response: ServerResponse) => Promise<void> | void;

/** The counters that the admin port shows. */
interface AdminMetrics {
  exposition(): Promise<{ readonly text: string; readonly contentType: string }>;
  readonly refused: number;
  readonly shed: number;
  readonly unjudged: number;
}

/** What the admin port reads and changes. */
export interface AdminOptions {
  readonly serving: Serving;
  readonly decisions: DecisionLog;
  readonly metrics: AdminMetrics;
  readonly configuration: Configuration;
  readonly controls: Controls;
  readonly audit: AuditLog;
  /** Serializes changes of configuration and controls, so that each change applies to the state it was decided on. */
  readonly mutex: Mutex;
  readonly orders: StudioOrders;
  readonly featureLog: FeatureLog;
  readonly counts: PredictionCounts;
  readonly ensembles: EnsembleStats;
  readonly stages: StageWatch;
  readonly budgets: KeyBudgets;
  readonly keyUsage: KeyUseFiles;
  /** Null: this gateway shares no state. */
  readonly link: ValkeyLink | null;
  /** Whether another process takes over, or has taken over, the state: this one changes nothing any more. */
  readonly handsOver: () => boolean;
  /** Whether each connection ends with its next answer. */
  readonly closesConnections: () => boolean;
  readonly version: string;
  /** Names under which clients may know the gateway, beside its addresses. */
  readonly hosts: ReadonlySet<string>;
  readonly pace: ClientPace;
  readonly refusals: RefusalNotes;
  /** Null: every caller is admitted; the listener is on the loopback address only. */
  readonly token: string | null;
}
