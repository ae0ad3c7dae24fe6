"use client";

import { actIn } from "../api/actIn";

/** Something done to a job. */
export const useProfileAct = actIn("profiles");
