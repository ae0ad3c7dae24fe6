import type { Workload } from "@/solver/workload/workload";
import { describeWorkload } from "./describeWorkload";
import { encodeWorkload, workloadHash } from "./workloadCodec";

/** A workload as it is stored: under the hash of its content, with what lists tell of it. */
export interface PackedWorkload {
  readonly id: string;
  readonly described: ReturnType<typeof describeWorkload>;
  readonly data: Uint8Array;
}

/** Takes seconds for a quarter of a million answers. */
export const packWorkload = (workload: Workload): PackedWorkload => ({
  id: workloadHash(workload),
  described: describeWorkload(workload),
  data: encodeWorkload(workload),
});
