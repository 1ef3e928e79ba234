import { chooseTheme, useTheme } from '../live/theme.ts'

/** Says which theme it leads to. */
export function ThemeButton() {
  const next = useTheme() === 'dark' ? 'light' : 'dark'
  return (
    <button type="button" className="button button-quiet theme" onClick={() => chooseTheme(next)}>
      Use {next} theme
    </button>
  )
}
