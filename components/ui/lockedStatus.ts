import type { PanelStatus } from "./PanelState";

/** The state of a panel whose data a person's role does not allow to read. */
export const lockedStatus = (hindrance: string): PanelStatus => ({ kind: "empty", title: "Not for your role", text: hindrance });
