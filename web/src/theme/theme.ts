import {
  Badge,
  Button,
  Card,
  Code,
  type CSSVariablesResolver,
  createTheme,
  defaultVariantColorsResolver,
  Drawer,
  type MantineColorsTuple,
  Modal,
  Paper,
  Skeleton,
  Table,
  Tooltip,
  type VariantColorsResolver,
} from '@mantine/core'

// The library wants ten shades of each colour; the product has one per
// meaning, kept in tokens.css. All shades are that token.
function shades(token: string): MantineColorsTuple {
  return Array(10).fill(`var(${token})`) as unknown as MantineColorsTuple
}

const meanings = ['accent', 'red', 'amber', 'green'] as const

const resolver: VariantColorsResolver = (input) => {
  const name = input.color ?? input.theme.primaryColor
  const known = meanings.find((m) => m === name)
  if (input.variant === 'default') {
    return { background: 'var(--surface)', hover: 'var(--sunken)', color: 'var(--text)', border: '1px solid var(--control-border)' }
  }
  if (name === 'gray') {
    if (input.variant === 'subtle') return { background: 'transparent', hover: 'var(--gray-soft)', color: 'var(--muted)', border: '1px solid transparent' }
    return { background: 'var(--gray-soft)', hover: 'var(--gray-soft)', color: 'var(--muted)', border: '1px solid transparent' }
  }
  if (!known) return defaultVariantColorsResolver(input)
  switch (input.variant) {
    case 'filled':
      return known === 'accent'
        ? { background: 'var(--accent)', hover: 'var(--accent-hover)', color: 'var(--on-accent)', border: '1px solid transparent' }
        : { background: `var(--${known})`, hover: `var(--${known})`, color: 'var(--surface)', border: '1px solid transparent' }
    case 'light':
      return { background: `var(--${known}-soft)`, hover: `var(--${known}-soft)`, color: `var(--${known})`, border: `1px solid var(--${known}-line)` }
    case 'subtle':
    case 'transparent':
      return { background: 'transparent', hover: `var(--${known}-soft)`, color: `var(--${known})`, border: '1px solid transparent' }
    default:
      return defaultVariantColorsResolver(input)
  }
}

export const theme = createTheme({
  primaryColor: 'accent',
  colors: {
    accent: shades('--accent'),
    red: shades('--red'),
    amber: shades('--amber'),
    green: shades('--green'),
    // The library's own grounds and borders, in the steps it picks from.
    gray: ['#f7f8fa', '#f0f2f5', '#e9ebef', '#e2e5ea', '#cfd4db', '#aeb5bf', '#59616c', '#3f4650', '#2b3036', '#181b20'],
    dark: ['#e7e9ec', '#c3c9d1', '#9ea7b3', '#7d8792', '#2a2f36', '#22262c', '#171a1e', '#171a1e', '#131619', '#0f1114'],
  },
  variantColorResolver: resolver,
  fontFamily: "system-ui, -apple-system, 'Segoe UI', Inter, Roboto, 'Helvetica Neue', sans-serif",
  fontFamilyMonospace: 'var(--mono)',
  fontSizes: { xs: '12px', sm: '13px', md: '14px', lg: '16px', xl: '24px' },
  lineHeights: { xs: '16px', sm: '20px', md: '20px', lg: '24px', xl: '32px' },
  spacing: { xs: '8px', sm: '12px', md: '16px', lg: '24px', xl: '32px' },
  radius: { xs: '4px', sm: '6px', md: '8px', lg: '12px', xl: '16px' },
  defaultRadius: 'sm',
  headings: {
    fontWeight: '600',
    sizes: {
      h1: { fontSize: '24px', lineHeight: '32px' },
      h2: { fontSize: '14px', lineHeight: '20px' },
      h3: { fontSize: '13px', lineHeight: '20px' },
    },
  },
  cursorType: 'pointer',
  components: {
    Badge: Badge.extend({
      defaultProps: { variant: 'light', radius: 'xs' },
      styles: { root: { textTransform: 'none', fontWeight: 600, fontSize: 12, height: 20, paddingInline: 6, maxWidth: '100%' } },
    }),
    Button: Button.extend({
      defaultProps: { variant: 'default' },
      vars: (_, props) => ({
        root: { '--button-height': props.size === 'md' ? '40px' : '32px', '--button-fz': '13px', '--button-padding-x': '12px' },
      }),
      styles: { label: { fontWeight: 500 } },
    }),
    Card: Card.extend({ defaultProps: { withBorder: true, padding: 'md', radius: 'md' } }),
    Code: Code.extend({ vars: () => ({ root: { '--code-bg': 'var(--sunken)' } }) }),
    Paper: Paper.extend({ defaultProps: { radius: 'md' } }),
    Modal: Modal.extend({
      defaultProps: { radius: 'lg', centered: true, padding: 'lg', overlayProps: { backgroundOpacity: 0.4 }, closeButtonProps: { 'aria-label': 'Close' } },
      styles: { title: { fontWeight: 600, fontSize: 16, lineHeight: '24px' } },
    }),
    Drawer: Drawer.extend({
      defaultProps: { closeButtonProps: { 'aria-label': 'Close' } },
      styles: { title: { fontWeight: 600, fontSize: 16, lineHeight: '24px' } },
    }),
    Skeleton: Skeleton.extend({ defaultProps: { radius: 'xs' } }),
    Table: Table.extend({ defaultProps: { verticalSpacing: 9, horizontalSpacing: 'xs' } }),
    Tooltip: Tooltip.extend({ defaultProps: { openDelay: 200, multiline: true, maw: 360 } }),
    // On a narrow screen the choices go on in a second line.
    SegmentedControl: { defaultProps: { maw: '100%' }, styles: { root: { flexWrap: 'wrap' } } },
    // By name only: the first page has neither, and need not fetch them.
    Menu: { styles: { dropdown: { boxShadow: 'var(--float-shadow)' } } },
    Switch: { defaultProps: { withThumbIndicator: false } },
  },
})

// What the library computes from shades, said in tokens.
export const variables: CSSVariablesResolver = () => {
  const both: Record<string, string> = {
    '--mantine-color-body': 'var(--surface)',
    '--mantine-color-text': 'var(--text)',
    '--mantine-color-dimmed': 'var(--muted)',
    '--mantine-color-placeholder': 'var(--muted)',
    '--mantine-color-anchor': 'var(--accent)',
    '--mantine-color-error': 'var(--red)',
    '--mantine-color-default': 'var(--surface)',
    '--mantine-color-default-hover': 'var(--sunken)',
    '--mantine-color-default-color': 'var(--text)',
    '--mantine-color-default-border': 'var(--control-border)',
    '--mantine-primary-color-contrast': 'var(--on-accent)',
    '--mantine-color-disabled': 'var(--gray-soft)',
    '--mantine-color-disabled-color': 'var(--muted)',
    '--mantine-color-disabled-border': 'var(--border)',
    '--table-border-color': 'var(--border)',
  }
  for (const m of meanings) {
    const fill = m === 'accent' ? 'var(--accent)' : `var(--${m}-fill)`
    both[`--mantine-color-${m}-filled`] = fill
    both[`--mantine-color-${m}-filled-hover`] = fill
    both[`--mantine-color-${m}-light`] = `var(--${m}-soft)`
    both[`--mantine-color-${m}-light-hover`] = `var(--${m}-soft)`
    both[`--mantine-color-${m}-light-color`] = `var(--${m})`
    both[`--mantine-color-${m}-outline`] = `var(--${m})`
    both[`--mantine-color-${m}-text`] = `var(--${m})`
  }
  return { variables: {}, light: both, dark: both }
}
