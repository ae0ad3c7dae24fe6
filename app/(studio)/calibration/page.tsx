import type { Metadata } from "next";
import { CalibrationScreen } from "@/components/calibration/CalibrationScreen";

export const metadata: Metadata = { title: "Calibration" };

export default function CalibrationPage() {
  return <CalibrationScreen />;
}
