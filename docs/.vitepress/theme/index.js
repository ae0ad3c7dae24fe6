// The default theme with the system's fonts, as the studio has.
import Theme from "vitepress/theme-without-fonts";
import "./style.css";

export default Theme;
