CREATE TABLE `gateway_audits` (
	`cluster_id` text PRIMARY KEY NOT NULL,
	`sequence` integer NOT NULL,
	`at_ms` real NOT NULL,
	FOREIGN KEY (`cluster_id`) REFERENCES `clusters`(`id`) ON UPDATE no action ON DELETE no action
);
