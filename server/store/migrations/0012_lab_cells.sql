CREATE TABLE `lab_cells` (
	`run_id` text NOT NULL,
	`position` integer NOT NULL,
	`cell` text NOT NULL,
	PRIMARY KEY(`run_id`, `position`),
	FOREIGN KEY (`run_id`) REFERENCES `lab_runs`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
ALTER TABLE `lab_runs` ADD `notes` text DEFAULT '[]' NOT NULL;--> statement-breakpoint
ALTER TABLE `lab_runs` DROP COLUMN `cells`;