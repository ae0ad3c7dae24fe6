"use client";

import { actIn } from "@/components/api/actIn";

/** Something done to batches. */
export const useBatchAct = actIn("batches");
