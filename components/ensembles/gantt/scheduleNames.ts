import type { ScheduleKind } from "@/server/contracts/studio";

/** Names of schedules in sentences. */
export const scheduleNames: Readonly<Record<ScheduleKind, string>> = {
  placed: "placed by Weir",
  "round-robin": "round-robin",
  "data-concurrent": "data-concurrent replication",
  "list-scheduling": "list scheduling",
};
