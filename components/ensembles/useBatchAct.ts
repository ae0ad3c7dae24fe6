"use client";

import { actIn } from "../api/actIn";

/** Something done to batches. */
export const useBatchAct = actIn("batches");
