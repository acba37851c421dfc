// Without the fonts that the theme brings: those of the system load at once.
import Theme from 'vitepress/theme-without-fonts'
import './style.css'

export default Theme
