CREATE TABLE `roll_ups` (
	`cluster_id` text NOT NULL,
	`subject` text NOT NULL,
	`step_seconds` integer NOT NULL,
	`start_ms` integer NOT NULL,
	`data` blob NOT NULL,
	PRIMARY KEY(`cluster_id`, `subject`, `step_seconds`, `start_ms`)
);
--> statement-breakpoint
CREATE INDEX `roll_ups_by_age` ON `roll_ups` (`step_seconds`,`start_ms`);