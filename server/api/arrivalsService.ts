import type { ArrivalsGround } from "@/server/planning/findArrivals";
import { previewArrivals } from "@/server/planning/previewArrivals";
import type { ArrivalsService } from "./profilingServices";

/** Arrivals before they are joined to anything. */
export const createArrivalsService = (ground: ArrivalsGround): ArrivalsService => ({ preview: (order) => previewArrivals(order, ground) });
