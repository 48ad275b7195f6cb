"""The Shop app: products, one product, the cart, and the payment page."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from devices.virtual_phone.apps.base import App, Page, bottom_button, dollars, list_row, shuffled
from devices.virtual_phone.screen.pieces import Gap, Label, Picture, Rule
from devices.virtual_phone.screen.widgets import Box, Row, Wide, Widget
from devices.virtual_phone.state import Order
from devices.virtual_phone.window_manager import WindowManager


@dataclass(frozen=True, slots=True)
class Product:
    """A product of the shop; its price is in US cents."""

    name: str
    cents: int
    icon: str
    colour: str
    text: str


PRODUCTS = (
    Product("Coffee beans 500 g", 1290, "coffee", "orange", "Arabica, medium roast, whole beans."),
    Product("Green tea 100 g", 840, "tea", "green", "Loose leaves from the first harvest."),
    Product("Blue mug", 950, "cup", "blue", "Stoneware, 350 ml, dishwasher safe."),
    Product("Red mug", 950, "cup", "red", "Stoneware, 350 ml, dishwasher safe."),
    Product("Notebook A5", 620, "notebook", "purple", "Dotted, 120 pages, lies flat."),
    Product("Desk lamp", 3499, "desk_lamp", "grey", "Dimmable, warm white, USB-C."),
    Product("Umbrella", 1875, "umbrella", "teal", "Opens by itself, withstands wind."),
)
BY_NAME = {product.name: product for product in PRODUCTS}


def main(windows: WindowManager) -> Page:
    """Build the list of all products."""

    def row(product: Product) -> Widget:
        return Row(
            parts=[
                Wide(72, _tile(product, 72, 34)),
                Box(
                    children=[
                        Label(windows.say(product.name), 17, 500, most=1),
                        Label(dollars(_cents(windows, product)), 16, colour="primary", weight=500),
                    ],
                    gap=4,
                ),
            ],
            gap=16,
            padding=(20, 8, 20, 8),
            on_tap=partial(windows.open, "product", name=product.name),
            identifier="product",
        )

    return Page(
        title=windows.say("Shop"),
        large=True,
        body=[row(product) for product in shuffled(PRODUCTS, windows.state.seed, "products")],
        actions=[_cart_button(windows)],
    )


def product(windows: WindowManager) -> Page:
    """Build the page of one product."""
    item = BY_NAME[windows.page.arguments["name"]]
    return Page(
        title=windows.say("Shop"),
        on_back=windows.close_page,
        actions=[_cart_button(windows)],
        body=[
            Box(children=[_tile(item, 220, 110)], padding=(20, 8, 20, 20)),
            Box(
                children=[
                    Label(windows.say(item.name), 26, identifier="product_name"),
                    Label(dollars(_cents(windows, item)), 22, 500, "primary", identifier="price"),
                    Gap(4),
                    Label(windows.say(item.text), 16, colour="muted"),
                    Gap(4),
                    Label(windows.say("In stock. Arrives in 2 days."), 15, colour="good"),
                ],
                gap=6,
                padding=(20, 0, 20, 0),
            ),
        ],
        bottom=bottom_button(windows.say("Add to cart"), lambda: windows.state.cart.append(item.name), "add_to_cart"),
    )


def cart(windows: WindowManager) -> Page:
    """Build the page of the cart: its products and their total."""

    def row(index: int, item: Product) -> Widget:
        name = windows.say(item.name)
        words = windows.say("Remove {name}", name=name)
        remove = Picture("close", 22, "muted", description=words, on_tap=partial(windows.state.cart.pop, index))
        return list_row(name, subtitle=dollars(_cents(windows, item)), trailing=remove, trailing_width=48)

    items = [BY_NAME[name] for name in windows.state.cart]
    words = Label(windows.say("Your cart is empty"), 16, colour="muted", align="centre")
    empty = [Box(children=[words], padding=(0, 80, 0, 0))]
    return Page(
        title=windows.say("Cart"),
        on_back=windows.close_page,
        body=[
            *(row(index, item) for index, item in enumerate(items)),
            *([Rule(), _sum(windows, items)] if items else empty),
        ],
        bottom=bottom_button(
            windows.say("Checkout"), partial(windows.open, "payment"), "checkout", enabled=bool(items)
        ),
    )


def payment(windows: WindowManager) -> Page:
    """Build the page on which the order is paid."""
    items = [BY_NAME[name] for name in windows.state.cart]
    total = sum(_cents(windows, item) for item in items)
    return Page(
        title=windows.say("Payment"),
        on_back=windows.close_page,
        body=[
            Box(
                children=[
                    Label(windows.say("Total"), 16, colour="muted", align="centre"),
                    Label(
                        windows.say("Pay {amount}", amount=dollars(total)), 38, 500, align="centre", identifier="amount"
                    ),
                ],
                padding=(20, 20, 20, 20),
            ),
            *(
                list_row(windows.say(item.name), subtitle=dollars(_cents(windows, item)), icon="package_variant_closed")
                for item in items
            ),
            Rule(),
            list_row(windows.say("Card"), subtitle="Visa •••• 4242", icon="credit_card_outline"),
            list_row(windows.say("Deliver to"), subtitle=windows.say("1 Example Street"), icon="home_outline"),
        ],
        bottom=bottom_button(windows.say("Place order"), partial(_order, windows), "place_order", enabled=bool(items)),
    )


def done(windows: WindowManager) -> Page:
    """Build the page that says that the order was placed."""
    order = windows.state.orders[-1]
    return Page(
        title=windows.say("Shop"),
        body=[
            Box(
                children=[
                    Picture("check_circle", 72, "good"),
                    Gap(12),
                    Label(windows.say("Order placed"), 26, align="centre", identifier="headline"),
                    Label(
                        windows.say("You paid {amount}.", amount=dollars(order.total_cents)),
                        16,
                        colour="muted",
                        align="centre",
                    ),
                ],
                gap=4,
                padding=(20, 60, 20, 20),
            )
        ],
        bottom=bottom_button(windows.say("Continue shopping"), windows.restart, "continue", filled=False),
    )


def _cents(windows: WindowManager, item: Product) -> int:
    return windows.state.prices.get(item.name, item.cents)


def _tile(item: Product, height: float, size: float) -> Widget:
    return Box(
        children=[Picture(item.icon, size, item.colour)], fill="surface", radius=18, minimum=height, centred=True
    )


def _sum(windows: WindowManager, items: list[Product]) -> Widget:
    total = dollars(sum(_cents(windows, item) for item in items))
    return Row(
        parts=[
            Label(windows.say("Total"), 18, 500),
            Wide(110, Label(total, 18, 500, align="right", identifier="total")),
        ],
        padding=(20, 18, 20, 18),
    )


def _cart_button(windows: WindowManager) -> Picture:
    count = len(windows.state.cart)
    return Picture(
        "cart" if count else "cart_outline",
        24,
        "text",
        description=f"{windows.say('Cart')}, {count}",
        identifier="cart",
        on_tap=partial(windows.open, "cart"),
    )


def _order(windows: WindowManager) -> None:
    names = list(windows.state.cart)
    windows.state.orders.append(Order(names, sum(_cents(windows, BY_NAME[name]) for name in names)))
    windows.state.cart.clear()
    windows.restart("done")


_PAGES = {"main": main, "product": product, "cart": cart, "payment": payment, "done": done}
APP = App("shop", "org.example.shop", ".ShopActivity", "Shop", "shopping", "orange", _PAGES)
