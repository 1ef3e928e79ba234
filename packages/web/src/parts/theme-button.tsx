import { chooseTheme, useTheme } from '../live/theme.ts'

/** Switches the theme; its label names the new one. */
export function ThemeButton() {
  const next = useTheme() === 'dark' ? 'light' : 'dark'
  return (
    <button type="button" className="button button-quiet theme" onClick={() => chooseTheme(next)}>
      Use {next} theme
    </button>
  )
}
