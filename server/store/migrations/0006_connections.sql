CREATE TABLE `journal` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`application_id` text NOT NULL,
	`at` text NOT NULL,
	`step_id` text,
	`event` text NOT NULL,
	`detail` text NOT NULL,
	FOREIGN KEY (`application_id`) REFERENCES `applications`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `journal_by_application` ON `journal` (`application_id`,`id`);--> statement-breakpoint
ALTER TABLE `applications` ADD `roll_back_on_regression` integer DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE `applications` ADD `halt` text;--> statement-breakpoint
ALTER TABLE `applications` ADD `verification` text;--> statement-breakpoint
ALTER TABLE `clusters` ADD `connection` text;--> statement-breakpoint
ALTER TABLE `clusters` ADD `gateway` text;