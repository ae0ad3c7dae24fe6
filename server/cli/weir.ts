import { sealPlan } from "@/server/planning/sealPlan";

console.log(typeof sealPlan);
