import type { Metadata } from "next";
import { CardsScreen } from "@/components/cards/CardsScreen";

export const metadata: Metadata = { title: "Cards" };

export default function CardsPage() {
  return <CardsScreen />;
}
